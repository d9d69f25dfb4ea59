// How much of something: a bar whose length is set through the object model, which the page's policy allows.
import { useEffect, useRef } from "preact/hooks";

export function Meter({ value, label, run }: { value: number; label: string; run?: boolean }) {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    bar.current!.style.setProperty("--v", `${Math.round(Math.min(1, Math.max(0, value)) * 100)}%`);
  }, [value]);
  return (
    <span class={run ? "meter run" : "meter"} role="img" aria-label={label}>
      <i ref={bar} />
    </span>
  );
}
