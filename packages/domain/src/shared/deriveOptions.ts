import type { Schema } from "effect"
import { optionalWithDefault } from "./requests/optionalWithDefault.ts"

/** An optional field of a record. */
interface Option {
  /** The field's schema in a request. */
  readonly input: Schema.Top
  /** The default, as a phrase for the documentation; see `optionalWithDefault`. */
  readonly absent: string
  /** The field's schema in a response. */
  readonly shown: Schema.Constraint
  readonly default: unknown
}

/**
 * An option that few records use. Null in a request removes it, and responses then contain `unset`.
 */
interface RareOption extends Omit<Option, "default"> {
  /** The value shown for records without the option. Null by default. */
  readonly unset?: unknown
}

type Options = Readonly<Record<string, Option>>
type RareOptions = Readonly<Record<string, RareOption>>

/**
 * Derives the request fields, the response fields and the defaults from one declaration per option.
 */
export const deriveOptions = <const O extends Options>(all: O) => ({
  input: mapped(all, ({ absent, input }) => optionalWithDefault(absent, input)) as {
    readonly [Name in keyof O]: Schema.optionalKey<O[Name]["input"]>
  },
  fields: mapped(all, ({ shown }) => shown) as { readonly [Name in keyof O]: O[Name]["shown"] },
  defaults: mapped(all, (option) => option.default) as {
    readonly [Name in keyof O]: O[Name]["default"]
  }
})

export const deriveRareOptions = <const O extends RareOptions>(all: O) => ({
  input: mapped(all, ({ absent, input }) => optionalWithDefault(absent, input)) as {
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
