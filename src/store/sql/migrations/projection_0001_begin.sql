-- Projections: everything here can be dropped and rebuilt from ground truth.

-- One row per run for lists. Status moves in the unit's own transaction; the rest is folded later.
CREATE TABLE run_summary (
    run {int} NOT NULL PRIMARY KEY,
    namespace {int} NOT NULL,
    instance {int} NOT NULL,
    status {int} NOT NULL,
    sort_us {int} NOT NULL
) {hot};
CREATE INDEX run_summary_sort ON run_summary (namespace, sort_us, run);
