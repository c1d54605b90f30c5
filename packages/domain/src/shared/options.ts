import type { Schema } from "effect"
import { whenAbsent } from "./requests/whenAbsent.ts"

/** An optional field of a record. */
interface Option {
  /** The schema of the field in a request. */
  readonly input: Schema.Top
  /** The phrase that says what a record has without the option: see `whenAbsent`. */
  readonly absent: string
  /** The schema of the field in an answer. */
  readonly shown: Schema.Constraint
  readonly default: unknown
}

/**
 * An option that few records have. A request with null takes it away, and an answer then shows
 * `unset`.
 */
interface RareOption extends Omit<Option, "default"> {
  /** The value of records that do not have the option. Null when absent. */
  readonly unset?: unknown
}

type Options = Readonly<Record<string, Option>>
type RareOptions = Readonly<Record<string, RareOption>>

/** The fields of requests and of answers and the defaults, from one declaration of each option. */
export const options = <const O extends Options>(all: O) => ({
  input: mapped(all, ({ absent, input }) => whenAbsent(absent, input)) as {
    readonly [Name in keyof O]: Schema.optionalKey<O[Name]["input"]>
  },
  fields: mapped(all, ({ shown }) => shown) as { readonly [Name in keyof O]: O[Name]["shown"] },
  defaults: mapped(all, (option) => option.default) as {
    readonly [Name in keyof O]: O[Name]["default"]
  }
})

export const rareOptions = <const O extends RareOptions>(all: O) => ({
  input: mapped(all, ({ absent, input }) => whenAbsent(absent, input)) as {
    readonly [Name in keyof O]: Schema.optionalKey<O[Name]["input"]>
  },
  fields: mapped(all, ({ shown }) => shown) as { readonly [Name in keyof O]: O[Name]["shown"] },
  defaults: mapped(all, () => null) as { readonly [Name in keyof O]: null },
  unset: mapped(all, ({ unset = null }) => unset) as {
    readonly [Name in keyof O]: Schema.Schema.Type<O[Name]["shown"]>
  }
})

const mapped = <A, B>(all: Readonly<Record<string, A>>, change: (value: A) => B) =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [name, change(value)]))
