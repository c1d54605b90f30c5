import { Schema } from "effect"

/** The most values of one filter. */
const maxValues = 100

/**
 * A filter of a list that takes several values and shows the records that have one of them. In a
 * query the parameter is repeated, `status=failed&status=cancelled`. In a body it is an array.
 */
export const repeatable = <Value extends Schema.Top>(value: Value, what: string) =>
  Schema.Array(value)
    .check(Schema.isMinLength(1), Schema.isMaxLength(maxValues))
    .annotate({ description: `${what} is one of these.` })
