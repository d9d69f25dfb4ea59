// Dialogs: one at a time, on top of everything, with the focus going back where it came from.
import { effect, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { path } from "../lib/router";

const open = signal<(() => ComponentChildren) | null>(null);

/** Shows what `content` renders, which is a Dialog. */
export function openDialog(content: () => ComponentChildren) {
  open.value = content;
}

export function closeDialog() {
  open.value = null;
}

// Another page is another thing: what was asked about the one before is not asked any more.
let where = "";
effect(() => {
  const here = path.value.join("/");
  if (here !== where) open.value = null;
  where = here;
});

export function Dialogs() {
  const Content = open.value;
  return Content ? <>{Content()}</> : null;
}

export function Dialog({ title, glyph, children, foot, onSubmit }: { title: string; glyph?: ComponentChildren; children: ComponentChildren; foot: ComponentChildren; onSubmit?: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.showModal();
    return () => before?.focus();
  }, []);
  return (
    <dialog
      ref={box}
      class="dlg"
      aria-labelledby="dialog-title"
      onClose={closeDialog}
      onClick={(event) => event.target === box.current && closeDialog()}
    >
      <form
        method="dialog"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <header>
          {glyph}
          <h2 id="dialog-title">{title}</h2>
        </header>
        <div class="body">{children}</div>
        <footer>{foot}</footer>
      </form>
    </dialog>
  );
}
