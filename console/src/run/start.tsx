// Starting a run from the list, and one like another.
import { at, get, Refusal, refusalOf } from "../lib/api";
import type { Json } from "../lib/json";
import { Button } from "../ui/basic";
import { closeDialog, Dialog, openDialog } from "../ui/dialog";
import { startOf } from "../screens/types";
import type { Parameter } from "../ui/form";
import { toast } from "../ui/toasts";

/** The form of one type. `first` fills it, as for "start like this one". */
export async function askStart(type: string, first?: Json, queue = "") {
  let parameters: Parameter[] | null = null;
  try {
    parameters = (await get(at`types/${type}`)).contract?.parameters ?? null;
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
  }
  startOf(type, parameters, queue, first);
}

/** Which type first. */
export async function chooseStart() {
  let types: { type: string; kind: string }[];
  try {
    types = (await get("types")).types;
  } catch (fault) {
    toast(refusalOf(fault).message, true);
    return;
  }
  const names = types.filter((one) => one.kind !== "activity").map((one) => one.type);
  openDialog(() => (
    <Dialog
      title="Start a run"
      foot={
        <>
          <span class="grow" />
          <Button onClick={closeDialog}>Close</Button>
        </>
      }
    >
      <p class="d">{names.length ? "Which type?" : "No type is known yet: a worker says which ones it has."}</p>
      <div class="pages">
        {names.map((name) => (
          <Button key={name} class="mono" onClick={() => void askStart(name)}>
            {name}
          </Button>
        ))}
      </div>
    </Dialog>
  ));
}
