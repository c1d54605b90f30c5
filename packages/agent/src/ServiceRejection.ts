import { InvalidWorkerToken } from "@scheduling/domain/workers/WorkerAuthentication"
import { AgentOutdated, SessionEnded } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Exit } from "effect"
import { toPrintableLine } from "./toPrintableLine.ts"

/** The error with which the agent exits: a one-line message and an exit code. */
export class AgentExitError {
  readonly _tag = "AgentExitError"
  readonly message: string
  readonly exitCode: number
  constructor(message: string, exitCode: number) {
    this.message = message
    this.exitCode = exitCode
  }
}

export type ServiceRejection = InvalidWorkerToken | AgentOutdated | SessionEnded

/**
 * Returns the service's rejection if the request failed because of one. All other failures are
 * temporary and are retried.
 */
export const findServiceRejection = <A, E>(exit: Exit.Exit<A, E>): ServiceRejection | undefined => {
  const error: unknown = Exit.isFailure(exit)
    ? exit.cause.reasons.flatMap((reason) => (reason._tag === "Fail" ? [reason.error] : []))[0]
    : undefined
  return isRefusal(error) ? error : undefined
}

const isRefusal = (error: unknown): error is ServiceRejection =>
  error instanceof InvalidWorkerToken ||
  error instanceof AgentOutdated ||
  error instanceof SessionEnded

export const toAgentExitError = (refusal: ServiceRejection): AgentExitError => {
  switch (refusal._tag) {
    case "InvalidWorkerToken":
      return new AgentExitError(
        "the service rejected the token: it was rotated, or the worker was deleted",
        2
      )
    case "AgentOutdated":
      return new AgentExitError(toPrintableLine(refusal.message), 4)
    case "SessionEnded":
      return new AgentExitError(toPrintableLine(refusal.message), 3)
  }
}

export const failureReason = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return ""
  const [first] = exit.cause.reasons
  const error: unknown =
    first?._tag === "Fail" ? first.error : first?._tag === "Die" ? first.defect : undefined
  return describeError(error)
}

/**
 * Describes an error with its innermost cause, because outer errors often do not say what went
 * wrong.
 */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return "no response"
  const innermost = findInnermost(error)
  const why = innermost === error ? "" : innermost.message || errorCode(innermost)
  const { message } = error
  return toPrintableLine(why === "" || message.includes(why) ? message : `${message}: ${why}`)
}

const findInnermost = (error: Error): Error => {
  const within = error instanceof AggregateError ? error.errors[0] : error.cause
  return within instanceof Error && within !== error ? findInnermost(within) : error
}

const errorCode = (error: Error) => ("code" in error ? String(error.code) : "")
