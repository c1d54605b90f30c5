import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"

/** A refused connection and an unknown name are answers: the network was there to give them. */
const answered = new Set([
  "connection refused",
  "connection reset",
  "host not found",
  "host has no address"
])

/**
 * True if no packet of the target or its name servers came back, so that the network of this machine
 * may be the reason.
 */
export const isUnreached = ({ code, message }: ExecutionError): boolean =>
  ((code === "dns" || code === "connection") && !answered.has(message)) ||
  (code === "timeout" && message.endsWith("while connecting"))
