import { Predicate } from "effect"
import { SqlError } from "effect/sql"

/**
 * Joins what the driver says with its cause, which says why: refused, too many clients, a wrong
 * password.
 */
export const explainSqlError = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message

/** Returns whether the statement failed for a passing reason, so that it can be repeated. */
export const isDatabaseAway = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) &&
  (databaseAway.has(error.reason._tag) || passingState.test(sqlState(error.reason.cause)))

/** Returns whether the statement failed because another transaction held a lock for too long. */
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
 * The SQL states of passing failures for which the driver has no class. 53: out of connections,
 * memory or disk. 57P0: the server starts or stops. 25006: the primary became a replica.
 */
const passingState = /^(?:53|57P0|25006)/

const sqlState = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : ""
