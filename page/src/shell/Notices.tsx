import { useLayoutEffect, useRef } from "preact/hooks";
import { dismiss, notices, spoken } from "../state/announce";
import { t } from "../strings";
import { Icon } from "../ui/Icon";

export function Notices() {
  const box = useRef<HTMLDivElement>(null);
  const shown = notices.value;
  // What sticks below the bar on a phone moves down by as much.
  useLayoutEffect(() => {
    document.documentElement.style.setProperty("--notices", `${box.current?.getBoundingClientRect().height ?? 0}px`);
  }, [shown]);
  return (
    <>
      <div class="sr-only" role="status" aria-live="polite" data-testid="spoken">
        {spoken.value}
      </div>
      <div class="notices" ref={box}>
        {shown.map((notice) => (
          <div key={notice.id} class={`notice ${notice.bad ? "bad" : ""}`} role={notice.bad ? "alert" : "status"}>
            <span>{notice.words}</span>
            <button type="button" class="plain square small" aria-label={t("action.close")} onClick={() => dismiss(notice.id)}>
              <Icon name="close" size={14} />
            </button>
          </div>
        ))}
      </div>
    </>
  );
}
