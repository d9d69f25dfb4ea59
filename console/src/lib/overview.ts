// What the frame and the overview both show of a namespace: asked once, by the frame.
import { signal } from "@preact/signals";
import type { Refusal } from "./api";
import type { Count } from "./format";

export interface Overview {
  generated_at: string;
  runs: Record<string, number>;
  attention: { groups: number; runs: number; top: { signature: string; code: string; text: string; count: number; since: string }[] };
  rates: { started_per_minute: number; closed_per_minute: number; failed_share: number | null; retries_per_minute: number; minutes: number };
  backlog: { ready: number; delayed: number; leased: number; oldest_ready_at: string | null; oldest_ready_age_ms: number };
  timers_next_hour: number[];
  types: { workflow_type: string; open: number; completed: number; failed: number }[];
  records: Record<string, any>;
  storage: { backend: string; bytes: number | null; wal_bytes: number | null; path: string | null };
  projections: { missing: number; stale: number; orphaned: number; needs_rebuild: boolean };
  schedules: { active: number; paused: number; missed: number };
  workers: { active: number };
  counts: Record<string, Count | number>;
  health: { status: string; checks: any[] };
}

export const overview = signal<{ data: Overview | null; fault: Refusal | null; at: number | null; slow: boolean }>({ data: null, fault: null, at: null, slow: false });
