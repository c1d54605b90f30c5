#!/usr/bin/env bash
# Creates and runs a first cron task, with curl alone. Needs curl and jq, and a started server:
#   npm start
#   examples/quickstart.sh
set -euo pipefail

api=${SCHEDULING_URL:-http://127.0.0.1:4000}/v1
target=${TARGET_URL:-$api/echo}
email="curl-$(date +%s)-$$@example.com"
password="correct horse battery staple"

# call METHOD PATH CREDENTIAL [BODY]: prints the answer, or prints the error and exits.
call() {
  local answer
  answer=$(curl --silent --show-error --fail-with-body --request "$1" "$api$2" \
    ${3:+--header "authorization: Bearer $3"} \
    ${4:+--header "content-type: application/json" --data "$4"}) || {
    echo "$1 $2 failed: $(jq -r '.detail.message? // .' <<<"$answer" 2>/dev/null || echo "$answer")" >&2
    exit 1
  }
  printf '%s' "$answer"
}

account=$(jq -n --arg email "$email" --arg password "$password" '{email: $email, password: $password}')
workspace=$(call POST /auth/register "" "$account" | jq -r .workspace.id)
token=$(call POST /auth/login "" "$account" | jq -r .access_token)
echo "Registered $email, with the workspace $workspace."

key=$(call POST "/workspaces/$workspace/api-keys" "$token" \
  '{"name":"quickstart","scopes":["tasks:read","tasks:write","executions:read"]}' | jq -r .key)
echo "Created an API key, ${key:0:12}…, which is shown only once."

task=$(call POST "/workspaces/$workspace/cron" "$key" \
  "$(jq -n --arg url "$target" '{name: "quickstart", url: $url, method: "GET", schedule: "*/5 * * * *"}')")
id=$(jq -r .id <<<"$task")
echo "Created a cron task that calls $target; its next run is at $(jq -r .next_run_at <<<"$task")."

execution=$(call POST "/workspaces/$workspace/cron/$id/run" "$key" | jq -r .id)
echo "Started a run."

for _ in $(seq 60); do
  result=$(call GET "/workspaces/$workspace/executions/$execution" "$key")
  status=$(jq -r .status <<<"$result")
  case $status in queued | running) sleep 0.5 ;; *) break ;; esac
done
echo "It $status: $(jq -c '.attempts[-1] | {status_code, error: .error.message}' <<<"$result")."

call DELETE "/workspaces/$workspace/cron/$id" "$key" >/dev/null
echo "Deleted the task. Its history stays."
