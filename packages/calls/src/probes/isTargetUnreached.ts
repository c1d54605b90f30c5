import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"

/**
 * The messages of errors that imply a response, such as a refused connection or an unknown name.
 * After such an error, the network was reachable.
 */
const networkReachedMessages = new Set([
  "connection refused",
  "connection reset",
  "host not found",
  "host has no address"
])

/**
 * Returns true if no packet from the target or its name servers arrived, so that this machine's
 * network may be the cause.
 */
export const isTargetUnreached = ({ code, message }: ExecutionError): boolean =>
  ((code === "dns" || code === "connection") && !networkReachedMessages.has(message)) ||
  (code === "timeout" && message.endsWith("while connecting"))
