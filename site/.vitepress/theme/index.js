// @ts-ignore: Deno does not know the packages of this folder, which npm installs
import DefaultTheme from "vitepress/theme-without-fonts";
import Layout from "./Layout.vue";
import "./site.css";

export default { extends: DefaultTheme, Layout };
