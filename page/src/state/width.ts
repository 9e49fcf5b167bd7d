/** Whether there is room for columns. */
import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 56rem)");
export const narrow = signal(query.matches);
query.addEventListener("change", () => (narrow.value = query.matches));
