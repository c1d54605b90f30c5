import { Predicate } from "effect"
import { SqlError } from "effect/sql"

/**
 * The driver says what failed, and its cause says why: refused, too many clients, a wrong password.
 */
export const explainSqlError = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message

/** Whether the statement failed for a passing reason and can be repeated. */
export const isDatabaseAway = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) &&
  (databaseAway.has(error.reason._tag) || passingState.test(sqlState(error.reason.cause)))

/** Whether another transaction held a needed lock for too long. */
export const isLockTimeout = (error: unknown): boolean =>
  SqlError.isSqlError(error) && error.reason._tag === "LockTimeoutError"

// ---------------------------------------------------------------------------

const databaseAway = new Set([
  "ConnectionError",
  "AuthenticationError",
  "StatementTimeoutError",
  "LockTimeoutError"
])

/**
 * Passing states without a class in the driver. 53: out of connections, memory or disk. 57P0:
 * starting or stopping. 25006: a primary that became a replica.
 */
const passingState = /^(?:53|57P0|25006)/

const sqlState = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : ""
