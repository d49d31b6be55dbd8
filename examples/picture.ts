/**
 * A picture for the demo: a PNG of 16 times 16 pixels.
 *
 * @module
 */

/** The picture. */
export const picture: Uint8Array<ArrayBuffer> = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAABlklEQVR42hXRURVEIQhFUSMYgQhEMAIRTgQiEMEIRiACEYxgBCLM" +
    "G7/ZrMt1jMEcyEAHa2ADBj6IwR6cQQ5qcAdv0IMxJnMiE52siU2Y+CQme3ImOanJnbxJzw8IUxBBhSWYgOBCCFs4QgolXOEJLR9Q" +
    "piKKKksxBcWVULZylFRKucpTWj+wmAtZ6GItbMHCF7HYi7PIRS3u4i16fcCYhhhqLMMMDDfC2MYx0ijjGs9o+8D/yC/2F+Rb/Q3/" +
    "n0PAhgMJBRce9FfhcKYjjjrLMf+PuxPOdo6TTjnXeU77B4IZSKDBCiz+yz2IYAcnyKCCG7yg4wObuZGNbtbG9j+Kb2KzN2eTm9rc" +
    "zdv0/sBhHuSgh3Ww8w/uhzjswznkoQ738A59PpDMRBJNVmL5P9OTSHZykkwquclLOj9QzEIKLVZh9S/Fiyh2cYosqrjFK7o+cJkX" +
    "uehlXez+K/RLXPblXPJSl3t5l74feMyHPPSxHvb+hfsjHvtxHvmox328R78PNLORRpvVWP+/x5todnOabKq5zWu6+QGlI1AQjZKi" +
    "WQAAAABJRU5ErkJggg==",
);
