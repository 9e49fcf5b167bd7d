import { useEffect, useState } from "preact/hooks";

/** Whether an element has left the view upwards; watched only where it matters. */
export function useScrolledPast(selector: string, watched: boolean): boolean {
  const [past, setPast] = useState(false);
  useEffect(() => {
    const element = document.querySelector(selector);
    if (!watched || !element) return undefined;
    const observer = new IntersectionObserver(([entry]) => {
      setPast(entry !== undefined && !entry.isIntersecting && entry.boundingClientRect.top < 0);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [selector, watched]);
  return past;
}
