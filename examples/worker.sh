#!/bin/sh
# worker.sh: a whole worker in shell: the workflow "announce" and its activity "shout", over the worker protocol.
# It needs curl and jq:  holdfast dev examples/worker.sh   and then   holdfast start announce text=hello --wait
set -eu
me=${HF_WORKER_ID:-sh-$$}

# ask PATH BODY: one request; the answer is JSON.
ask() {
    curl -sS --fail -H "Authorization: Bearer ${HF_TOKEN:-none}" -H 'X-Durable-Workflow-Protocol-Version: 1.13' \
        -H 'Content-Type: application/json' -d "$2" "$HF_URL/api/worker/$1"
}

# poll KIND: waits for a task of that kind and prints it; nothing when there was none.
poll() {
    ask "$1-tasks/poll" "{\"worker_id\": \"$me\", \"timeout_seconds\": 20, \"payload_codec\": \"json\"}" |
        jq -c '.task // empty'
}

# What to do next follows from history alone: shout first, then end with what came of it. Values pass through as they are.
decide='(.history_events | map(select(.event_type == "ActivityCompleted")) | first) as $done |
    if $done then {type: "complete_workflow", result: {codec: "avro", blob: $done.payload.result}}
    else {type: "schedule_activity", activity_type: "shout", arguments: {codec: "avro", blob: .arguments}} end |
    {lease_owner: $me, workflow_task_attempt: $attempt, commands: [.]}'

workflows() {
    while task=$(poll workflow); do
        [ -n "$task" ] || continue
        body=$(jq -c --arg me "$me" --argjson attempt "$(echo "$task" | jq .workflow_task_attempt)" "$decide" <<EOF
$task
EOF
        )
        ask "workflow-tasks/$(echo "$task" | jq -r .task_id)/complete" "$body" >/dev/null || echo "a decision came too late" >&2
    done
}

activities() {
    while task=$(poll activity); do
        [ -n "$task" ] || continue
        result=$(echo "$task" | jq -c '.arguments.blob | fromjson | {said: (.text | ascii_upcase)}')
        ask "activity-tasks/$(echo "$task" | jq -r .task_id)/complete" "$(echo "$task" | jq -c --argjson result "$result" \
            '{lease_owner, activity_attempt_id, result: $result}')" >/dev/null || echo "a result came too late" >&2
    done
}

ask register "{\"worker_id\": \"$me\", \"supported_workflow_types\": [\"announce\"], \"supported_activity_types\": [\"shout\"]}" >/dev/null
workflows &
one=$!
activities &
trap 'kill $one $!; exit 0' INT TERM
wait
