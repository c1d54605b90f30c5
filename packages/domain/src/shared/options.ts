import { Schema } from "effect"

/** An optional field of a record. */
interface Option {
  /** The schema of the field in a request. */
  readonly input: Schema.Constraint
  /** The schema of the field in an answer. */
  readonly shown: Schema.Constraint
  readonly default: unknown
}

/** An option that few records have. Null removes it, and an answer shows it only if it is set. */
interface RareOption extends Omit<Option, "default"> {
  /** A value that means the same as none. */
  readonly unset?: unknown
}

type Options = Readonly<Record<string, Option>>
type RareOptions = Readonly<Record<string, RareOption>>

/** The fields of requests and of answers and the defaults, from one declaration of each option. */
export const options = <const O extends Options>(all: O) => ({
  input: mapped(all, ({ input }) => Schema.optionalKey(input)) as {
    readonly [Name in keyof O]: Schema.optionalKey<O[Name]["input"]>
  },
  fields: mapped(all, ({ shown }) => shown) as { readonly [Name in keyof O]: O[Name]["shown"] },
  defaults: mapped(all, (option) => option.default) as {
    readonly [Name in keyof O]: O[Name]["default"]
  }
})

export const rareOptions = <const O extends RareOptions>(all: O) => ({
  input: mapped(all, ({ input }) => Schema.optionalKey(input)) as {
    readonly [Name in keyof O]: Schema.optionalKey<O[Name]["input"]>
  },
  fields: mapped(all, ({ shown }) => Schema.optionalKey(shown)) as {
    readonly [Name in keyof O]: Schema.optionalKey<O[Name]["shown"]>
  },
  defaults: mapped(all, () => null) as { readonly [Name in keyof O]: null },
  unset: mapped(all, ({ unset }) => unset) as { readonly [Name in keyof O]: unknown }
})

const mapped = <A, B>(all: Readonly<Record<string, A>>, change: (value: A) => B) =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [name, change(value)]))
