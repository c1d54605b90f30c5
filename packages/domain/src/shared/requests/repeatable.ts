import { Schema } from "effect"

/** The maximum number of values per filter. */
const maxValues = 100

/**
 * A list filter that accepts several values and matches records with any of them. The query
 * parameter is repeated, as in `status=failed&status=cancelled`; in a body the filter is an array.
 */
export const repeatable = <Value extends Schema.Top>(value: Value, what: string) =>
  Schema.Array(value)
    .check(Schema.isMinLength(1), Schema.isMaxLength(maxValues))
    .annotate({ description: `${what} is one of these.` })
