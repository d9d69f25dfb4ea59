-- When workers of a build first registered at a queue, and when last: marks on charts. Written when one registers and once
-- a day while it is there. Retention deletes a row a week after that.
CREATE TABLE build_seen (
    namespace {int} NOT NULL,
    queue TEXT NOT NULL,
    build_id TEXT NOT NULL,
    first_us {int} NOT NULL,
    last_us {int} NOT NULL,
    PRIMARY KEY (namespace, queue, build_id)
) {rowless};
CREATE INDEX build_seen_last ON build_seen (last_us);
