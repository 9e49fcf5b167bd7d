/** Line drawings of 24 by 24; they never carry meaning alone. */
const PATHS = {
  photo: "M4 6h16v12H4zM4 15l4.5-4.5L13 15l2.5-2.5L20 17M15.5 9.5h.01",
  pin: "M12 21s-6.5-6.2-6.5-11a6.5 6.5 0 0 1 13 0c0 4.8-6.5 11-6.5 11zM12 12.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4",
  close: "M6 6l12 12M18 6L6 18",
  back: "M15 5l-7 7 7 7",
  down: "M6 9l6 6 6-6",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M15.5 15.5L20 20",
  zoom: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M15.5 15.5L20 20M10.5 8v5M8 10.5h5",
  text: "M5 7V5h14v2M12 5v14M9 19h6",
  map: "M3 6.5l6-2.5 6 2.5 6-2.5v13.5l-6 2.5-6-2.5-6 2.5zM9 4v13.5M15 6.5V20",
  note: "M5 4h14v11l-5 5H5zM14 20v-5h5",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4",
  moon: "M19 14.5A7.5 7.5 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5z",
  bin: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  draw: "M4 16l4-10 9 2 3 9-8 3zM8 6h.01M17 8h.01M20 17h.01M12 20h.01M4 16h.01",
  report: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  save: "M12 4v11M7.5 11L12 15.5 16.5 11M5 20h14",
  gear: "M4 7h10M18 7h2M4 17h2M10 17h10M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4M8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4",
  stop: "M7 7h10v10H7z",
  play: "M8 5l11 7-11 7z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  warn: "M12 4l9 16H3zM12 10v4.5M12 17.2h.01",
  compare: "M4 5h7v14H4zM13 5h7v14h-7z",
  copy: "M9 9h10v11H9zM5 15V4h10",
  think: "M5 5h14v10h-7l-4 4v-4H5z",
  team: "M8.5 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M3 19c0-3 2.5-5 5.5-5s5.5 2 5.5 5M16 11a2.5 2.5 0 1 0 0-5M17 14c2.4.4 4 2.300 4 5",
  link: "M10 14l4-4M9 8l2-2a4 4 0 0 1 6 6l-2 2M15 16l-2 2a4 4 0 0 1-6-6l2-2",
  plus: "M12 5v14M5 12h14",
  undo: "M9 7L4 12l5 5M4 12h10a5 5 0 0 1 0 10h-1",
  help: "M9 9a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1.200-1.500 2.400M12 17.500h.01",
  stand: "M12 4v4M12 8l-4.500 12M12 8l4.500 12M12 8l.01 12M9 4h6",
  star: "M12 4l2.400 5.100 5.600.700-4.100 3.900 1.100 5.500L12 16.500l-5 2.700 1.100-5.500L4 9.800l5.600-.700z",
  lock: "M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
