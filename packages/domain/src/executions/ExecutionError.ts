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
    "cancelled",
    "overlap",
    "too_many_runs",
    "task_changed",
    "internal",
    "unknown"
  ],
  {
    identifier: "ExecutionErrorCode",
    description:
      "`http_status`: the status code of the answer is not a success. `response_rule`: the body of the " +
      "answer breaks `body_contains` or `body_lacks`. `invalid_response`: what came is not an HTTP answer, " +
      "or is too long. `timeout`: no complete answer came within `timeout_seconds`. `dns`: the host name has " +
      "no address, or none was found. `connection`: the connection was refused, failed or broke. `tls`: the " +
      "handshake failed, or the certificate is not valid. `address_refused`: calls to this address are not " +
      "allowed. `invalid_template`: with its values filled in, the call is not valid, or a value is missing. " +
      "`secret_missing`: the workspace has no secret of that name, or none that can be opened. " +
      "`secret_refused`: a secret may not be sent to this host. `auth_failed`: the authorization server gave no " +
      "access token. " +
      "`no_worker`: no worker took the run within `worker_wait_seconds`. `node_lost`: the node or the worker " +
      "that made the call was lost. `completion_failed`: the job reported a failure to the completion URL. " +
      "`completion_timeout`: the job did not report in time. `cancelled`: somebody cancelled the run, or paused or " +
      "deleted its task. `overlap`: the run before it was still in progress. `too_many_runs`: the task had " +
      "as many unfinished runs as it may have. `task_changed`: what was to be called is not there any more. " +
      "`internal`: the service failed. `unknown`: recorded without a code."
  }
)
export type ExecutionErrorCode = typeof ExecutionErrorCode.Type

/** Why an attempt or an execution did not succeed. */
export const ExecutionError = Schema.Struct({
  code: ExecutionErrorCode,
  message: Schema.String.annotate({
    description: "The reason in one line, for people. It may be reworded.",
    examples: ["answered 404"]
  })
}).annotate({
  identifier: "ExecutionError",
  examples: [{ code: "http_status", message: "answered 404" }]
})
export type ExecutionError = typeof ExecutionError.Type

export const executionError = (code: ExecutionErrorCode, message: string): ExecutionError => ({
  code,
  message
})

export const cancelledError = executionError("cancelled", "cancelled")

export const statusError = (status: number): ExecutionError =>
  executionError("http_status", `answered ${status}`)

/** How an error is stored, logged and shown in one line: `dns: host not found`. */
export const errorLine = ({ code, message }: ExecutionError): string => `${code}: ${message}`

const isCode = Schema.is(ExecutionErrorCode)

/** Reads what `errorLine` wrote. A line without a code is read whole. */
export const parseErrorLine = (line: string): ExecutionError => {
  const end = line.indexOf(": ")
  const code = line.slice(0, Math.max(0, end))
  return isCode(code) ? { code, message: line.slice(end + 2) } : { code: "unknown", message: line }
}
