// @ts-ignore: Deno does not know the packages of this folder, which npm installs
import DefaultTheme from "vitepress/theme-without-fonts";
import FirstPage from "./FirstPage.vue";
import Layout from "./Layout.vue";
import Playground from "./Playground.vue";
import "./site.css";

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp: ({ app }) => app.component("FirstPage", FirstPage).component("Playground", Playground),
};
