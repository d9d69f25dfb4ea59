// The numbers that operators watch, under the names of the API: the same as `GET /api/system/operator-metrics` has.
import { get } from "../lib/api";
import { useData } from "../lib/live";
import type { Json } from "../lib/json";
import { number } from "../lib/format";
import { Mono } from "../ui/basic";
import { Asked, Card, Facts } from "../ui/part";

const shown = (value: Json) => (typeof value === "number" ? number(value) : value === null ? "none" : String(value));

/** Groups of numbers, each a card; what has members of its own goes on with a dot. */
function pairs(of: Record<string, Json>, path = ""): [string, Json][] {
  return Object.entries(of).flatMap(([name, value]) => (value !== null && typeof value === "object" ? pairs(value as Record<string, Json>, path + name + ".") : [[path + name, value] as [string, Json]]));
}

export function Numbers() {
  const asked = useData<any>("numbers", (stop) => get("/api/system/operator-metrics", {}, stop), ["metrics", "list"]);
  return (
    <Asked of={asked} what="The numbers could not be read.">
      {(data) => {
        const of = data.operator_metrics ?? data;
        const groups = Object.entries(of).filter(([, value]) => value !== null && typeof value === "object");
        return (
          <div class="numbers">
            {groups.map(([name, value]) => (
              <Card key={name} title={<Mono>{name}</Mono>} label={name}>
                <div class="pad">
                  <Facts of={pairs(value as Record<string, Json>).map(([key, one]) => [<Mono class="sm">{key}</Mono>, shown(one)])} />
                </div>
              </Card>
            ))}
          </div>
        );
      }}
    </Asked>
  );
}
