-- Conditions of lists, joined by AND; see list.sql. Each is tested alone against a plain walk over all runs
-- (test/project/test_list.c). s is run_summary, r is run, i is instance, n is namespace.

-- piece filter_namespace
n.name = {value}

-- piece filter_instance_id
s.run IN (SELECT q.key FROM instance j JOIN run q ON q.instance = j.key WHERE j.namespace = {namespace} AND j.id = {value})

-- piece filter_run_id
s.run = {before} AND s.sort_us / 1000 = {value}

-- piece filter_type
s.type = {value}

-- piece filter_business_key
s.business_key = {value}

-- piece filter_compatibility
s.compatibility = {value}

-- piece filter_entry_mode
s.declared = {value}

-- piece filter_contract_source
s.declared = 2 - {value}

-- piece filter_connection
-- Nothing here has one.
{value} IS NULL

-- piece filter_queue
s.queue = {value}

-- piece filter_status
s.status = {value}

-- piece filter_status_bucket
(CASE WHEN s.ended = 0 THEN 1 WHEN s.ended = 6 THEN 2 ELSE 3 END) = {value}

-- piece filter_closed_reason
r.closed_reason = {value}

-- piece filter_wait_kind
(s.ended = 0 AND s.wait_kind = {value})

-- piece filter_liveness
-- Those of which only history can say it come too.
coalesce({liveness}, {value}) = {value}

-- piece filter_repair
{repair} IN ({value}, -1)

-- piece filter_attention
(CASE {repair} WHEN 1 THEN 1 WHEN 2 THEN 1 WHEN -1 THEN {value} ELSE 0 END) = {value}

-- piece filter_problem
coalesce({problem}, {value}) = {value}

-- piece filter_current
(CASE WHEN i.current_run = s.run THEN 1 ELSE 0 END) = {value}

-- piece filter_continue
(CASE WHEN s.pressure = 3 THEN 1 ELSE 0 END) = {value}

-- piece filter_archived
(CASE WHEN r.archived_us IS NOT NULL THEN 1 ELSE 0 END) = {value}

-- piece filter_terminal
(CASE WHEN s.ended <> 0 THEN 1 ELSE 0 END) = {value}

-- piece filter_instance_part
{position}(i.id, {value}) > 0

-- piece filter_type_part
{position}(s.type, {value}) > 0

-- piece filter_business_part
{position}(s.business_key, {value}) > 0

-- piece filter_failure
EXISTS (SELECT 1 FROM failure f WHERE f.run = s.run AND f.print = {value})

-- piece filter_started_from
s.sort_us >= {value}

-- piece filter_started_to
s.sort_us < {value}

-- piece filter_closed_from
r.closed_us >= {value}

-- piece filter_closed_to
r.closed_us < {value}

-- piece filter_open
-- Follows from many others, and an index answers it: what is rare among a million runs is found without looking at each.
s.ended = 0

-- piece filter_ended
s.ended = {value}

-- piece filter_label
EXISTS (SELECT 1 FROM run_label l WHERE l.run = s.run AND l.name = {before} AND l.value = {value})

-- piece filter_attribute
EXISTS (SELECT 1 FROM search_attribute a WHERE a.run = s.run AND a.name = {name} AND (

-- piece filter_attribute_text
a.text {sign} {value}

-- piece filter_attribute_number
a.number {sign} {value}

-- piece filter_attribute_real
a.real {sign} {value}
