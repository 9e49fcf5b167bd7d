/** Whether this browser can draw the map at all. */
export function canDrawMaps(): boolean {
  try {
    return document.createElement("canvas").getContext("webgl2") !== null;
  } catch {
    return false;
  }
}
