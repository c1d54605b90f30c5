import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"

export const ExecutionErrorCode = oneOf(
  [
    "http_status",
    "response_rule",
    "invalid_response",
    "timeout",
    "dns",
    "connection",
    "tls",
    "address_refused",
    "invalid_template",
    "secret_missing",
    "secret_refused",
    "auth_failed",
    "no_worker",
    "node_lost",
    "completion_failed",
    "completion_timeout",
    "approval_rejected",
    "approval_timeout",
    "cancelled",
    "overlap",
    "too_many_runs",
    "task_changed",
    "workspace_stopped",
    "internal",
    "unknown"
  ],
  {
    identifier: "ExecutionErrorCode",
    description:
      "`http_status`: the status code of the response does not count as success. `response_rule`: the response " +
      "body violates `body_contains` or `body_lacks`. `invalid_response`: the response is not valid HTTP " +
      "or is too long. `timeout`: no complete response within `timeout_seconds`. `dns`: the host name has " +
      "no address, or the lookup failed. `connection`: the connection was refused, failed or broke. `tls`: the " +
      "handshake failed, or the certificate is not valid. `address_refused`: calls to this address are not " +
      "allowed. `invalid_template`: the call is not valid after its values are filled in, or a value is missing. " +
      "`secret_missing`: the workspace has no secret with this name, or the secret cannot be decrypted. " +
      "`secret_refused`: a secret may not be sent to this host. `auth_failed`: the authorization server returned no " +
      "access token. " +
      "`no_worker`: no worker claimed the run within `worker_wait_seconds`. `node_lost`: the node or the worker " +
      "that made the call was lost. `completion_failed`: the job reported a failure to the completion URL. " +
      "`completion_timeout`: the job did not report in time. `approval_rejected`: somebody rejected the step. " +
      "`approval_timeout`: nobody approved or rejected the step in time. `cancelled`: somebody cancelled the run, or paused or " +
      "deleted its task. `overlap`: the previous run was still in progress. `too_many_runs`: the task had " +
      "reached its limit of unfinished runs. `task_changed`: the step or task to call no longer exists. " +
      "`workspace_stopped`: a slot of the schedule passed while the workspace was stopped. " +
      "`internal`: an error in the service. `unknown`: recorded without a code."
  }
)
export type ExecutionErrorCode = typeof ExecutionErrorCode.Type

/** Why an attempt or an execution failed. */
export const ExecutionError = Schema.Struct({
  code: ExecutionErrorCode,
  message: Schema.String.annotate({
    description: "A human-readable message in one line. Its wording may change.",
    examples: ["responded with 404"]
  })
}).annotate({
  identifier: "ExecutionError",
  examples: [{ code: "http_status", message: "responded with 404" }]
})
export type ExecutionError = typeof ExecutionError.Type

export const executionError = (code: ExecutionErrorCode, message: string): ExecutionError => ({
  code,
  message
})

export const cancelledError = executionError("cancelled", "cancelled")

export const statusError = (status: number): ExecutionError =>
  executionError("http_status", `responded with ${status}`)

/** Formats an error in one line for storage, logs and display: `dns: host not found`. */
export const errorLine = ({ code, message }: ExecutionError): string => `${code}: ${message}`

const isCode = Schema.is(ExecutionErrorCode)

/** Parses a line written by `errorLine`. A line without a code is given the code `unknown`. */
export const parseErrorLine = (line: string): ExecutionError => {
  const end = line.indexOf(": ")
  const code = line.slice(0, Math.max(0, end))
  return isCode(code) ? { code, message: line.slice(end + 2) } : { code: "unknown", message: line }
}
