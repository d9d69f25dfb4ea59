-- All open work of a run that closed, in one statement.
WITH closed AS MATERIALIZED (
    SELECT u.run FROM {rows run int}
), activities AS (
    DELETE FROM activity t USING closed WHERE t.run = closed.run
), timers AS (
    DELETE FROM timer t USING closed WHERE t.run = closed.run
), tasks AS (
    DELETE FROM task t USING closed WHERE t.run = closed.run
)
DELETE FROM inbox t USING closed WHERE t.run = closed.run
