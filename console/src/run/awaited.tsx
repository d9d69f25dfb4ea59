// What a wait is for, and the buttons that send it: a step machine waits for one of several signals.
import { Button, Mono } from "../ui/basic";
import { askSignal, awaited, refused } from "./actions";

/** Its name; of several signals all of them, in words. */
export function WaitName({ of, class: look }: { of: any; class?: string }) {
  if (of.kind !== "signal") return <Mono class={look}>{of.kind === "child" ? of.target_type : (of.target_name ?? of.condition_key ?? "")}</Mono>;
  const names = awaited(of.target_name);
  return (
    <>
      {names.map((name, at) => (
        <>
          {at > 0 && (at === names.length - 1 ? " or " : ", ")}
          <Mono class={look}>{name}</Mono>
        </>
      ))}
    </>
  );
}

/** A button for each signal that would end the wait. */
export function SendAwaited({ head, wait }: { head: any; wait: any }) {
  return (
    <>
      {awaited(wait.target_name).map((name, _at, all) => (
        <Button key={name} size="small" why={refused(head, "signal")} label={`Send ${name}`} onClick={() => askSignal(head, name)}>
          {all.length > 1 ? `Send ${name}…` : "Send…"}
        </Button>
      ))}
    </>
  );
}
