// Files that the page gives away.

/** Has the browser save a text, or several one behind the other. */
export function save(name: string, text: string | string[], type = "application/json") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text].flat(), { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
