#!/usr/bin/env python3
"""Creates and runs a first cron task, with Python's standard library alone.

Needs a started server:
    npm start
    python3 examples/quickstart.py
"""

import json
import os
import time
import urllib.error
import urllib.request
import uuid

API = os.environ.get("SCHEDULING_URL", "http://127.0.0.1:4000") + "/v1"
TARGET = os.environ.get("TARGET_URL", f"{API}/echo")


def call(method, path, credential=None, body=None):
    """One request; the answer as Python values, or the service's own message as the error."""
    request = urllib.request.Request(API + path, method=method)
    if credential:
        request.add_header("authorization", f"Bearer {credential}")
    if body is not None:
        request.add_header("content-type", "application/json")
        request.data = json.dumps(body).encode()
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read() or "null")
    except urllib.error.HTTPError as error:
        detail = json.loads(error.read())["detail"]
        raise SystemExit(f"{method} {path}: {error.code} {detail['error']}: {detail['message']}")


def main():
    account = {
        "email": f"python-{uuid.uuid4().hex}@example.com",
        "password": "correct horse battery staple",
    }
    workspace = call("POST", "/auth/register", body=account)["workspace"]["id"]
    token = call("POST", "/auth/login", body=account)["access_token"]
    print(f"Registered {account['email']}, with the workspace {workspace}.")

    scopes = ["tasks:read", "tasks:write", "executions:read"]
    created = call("POST", f"/workspaces/{workspace}/api-keys", token, {"name": "python", "scopes": scopes})
    key = created["key"]
    print(f"Created an API key, {created['key_prefix']}…, which is shown only once.")

    task = call(
        "POST",
        f"/workspaces/{workspace}/cron",
        key,
        {"name": "quickstart", "url": TARGET, "method": "GET", "schedule": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"},
    )
    print(f"Created a cron task that calls {TARGET}; its next run is at {task['next_run_at']}.")

    execution = call("POST", f"/workspaces/{workspace}/cron/{task['id']}/run", key)
    give_up_at = time.monotonic() + 30
    while execution["status"] in ("queued", "running") and time.monotonic() < give_up_at:
        time.sleep(0.2)
        execution = call("GET", f"/workspaces/{workspace}/executions/{execution['id']}", key)
    error = execution["error"]["message"] if execution["error"] else "no error"
    print(f"Ran it by hand: {execution['status']}, status code {execution['status_code']}, {error}.")

    call("DELETE", f"/workspaces/{workspace}/cron/{task['id']}", key)
    print("Deleted the task. Its history stays.")


if __name__ == "__main__":
    main()
