// JSON whose whole numbers stay whole: what a JavaScript number cannot hold becomes a bigint, which prints as it was sent.

const LONG_NUMBER = /[[:,]\s*-?\d{16,}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = "\u0000int:";

export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

export function parse(text: string): Json {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  const marked = text.replace(TOKEN, (token) =>
    token[0] !== '"' && /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"\\u0000int:${token}"` : token,
  );
  return JSON.parse(marked, (_key, value) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

export function stringify(value: Json, indent = 0, at = ""): string {
  const next = at + " ".repeat(indent);
  const open = indent ? "\n" + next : "";
  const close = indent ? "\n" + at : "";
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value))
    return value.length ? `[${open}${value.map((v) => stringify(v, indent, next)).join("," + open)}${close}]` : "[]";
  if (value && typeof value === "object") {
    const items = Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${indent ? " " : ""}${stringify(v, indent, next)}`);
    return items.length ? `{${open}${items.join("," + open)}${close}}` : "{}";
  }
  return JSON.stringify(value);
}
