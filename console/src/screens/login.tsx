// How somebody gets in, and why a link did not work.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { loggedOut, refusalOf } from "../lib/api";
import { param, set } from "../lib/router";
import { login } from "../lib/session";
import { Button, Glyph, Logo, Mono, Shell } from "../ui/basic";

declare const BUILT_VERSION: string;

const LINK: Record<string, string> = {
  used: "This link was used already. Each works once.",
  expired: "This link is older than ten minutes.",
  unknown: "This link is not one of this server. It forgets them when it is started again.",
};

export function Login() {
  const token = useSignal("");
  const busy = useSignal(false);
  const fault = useSignal<string | null>(LINK[param("login")] ?? (loggedOut.value || null));
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = "Log in · Holdfast";
    field.current?.focus();
  }, []);
  const send = async () => {
    if (busy.value) return;
    if (!token.value.trim()) {
      fault.value = "Paste a token first.";
      field.current?.focus();
      return;
    }
    busy.value = true;
    fault.value = null;
    try {
      await login(token.value);
      set({ login: null }, true);
    } catch (error) {
      fault.value = refusalOf(error).message;
      field.current?.focus();
    } finally {
      busy.value = false;
    }
  };
  return (
    <main class="solo plain" id="main">
      <div class="login">
        <div class="logo">
          <Logo />
          holdfast
        </div>
        <form
          class="card form"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <h1>Log in</h1>
          <p class="d">
            A token is always needed, also on this machine. <Mono class="nw">holdfast dev</Mono> prints a login link; <Mono>serve</Mono> writes the admin token to
            a file that only its owner can read.
          </p>
          <div class="field">
            <label for="token">Token</label>
            <input
              ref={field}
              id="token"
              class={fault.value ? "in mono bad" : "in mono"}
              type="password"
              autocomplete="current-password"
              spellcheck={false}
              value={token.value}
              aria-invalid={fault.value ? true : undefined}
              aria-describedby="token-fault"
              onInput={(event) => (token.value = event.currentTarget.value)}
            />
            <span class="err" id="token-fault" role="alert">
              {fault.value && (
                <>
                  <Glyph name="failed" small />
                  {fault.value}
                </>
              )}
            </span>
          </div>
          <Button type="submit" kind="primary" class="wide1">
            {busy.value ? "Logging in" : "Log in"}
          </Button>
          <div class="field">
            <span class="lab">A new token from the shell</span>
            <Shell text="holdfast token create --role operator" />
          </div>
        </form>
        <p class="w sm ctr fine">holdfast {BUILT_VERSION} · nothing on this page comes from elsewhere</p>
      </div>
    </main>
  );
}
