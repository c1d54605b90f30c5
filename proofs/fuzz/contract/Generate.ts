import { Arbitrary, Effect, Redacted, Result, Schema, SchemaAST } from "effect"
import { indexBelow, oneOf } from "./Chance.ts"
import { filtersOf, isSubset, knownSchemas } from "./KnownValues.ts"

/** Generates values of a schema's decoded type, always in the same order. */
export type Generator = () => unknown

/** The sizes of strings and lists. Successive batches of values cycle through these sizes. */
const sizes = [2, 8, 24, 80]
const batchLength = 24

export interface GeneratorOptions {
  readonly seed: string
  readonly sink: string
  /** The time that generated times are close to, in milliseconds since the epoch. */
  readonly now: number
}

export const makeGenerators = ({ now, seed, sink }: GeneratorOptions) => {
  const arbitraryOf = arbitraries(sink, now)

  return (schema: Schema.Top, label: string): Generator => {
    const arbitrary = arbitraryOf(SchemaAST.toType(schema.ast))
    let batches = 0
    let values: Array<unknown> = []
    const refill = () => {
      const size = sizes[batches % sizes.length] ?? 8
      const options = { seed: `${seed}/${label}/${batches++}`, size, count: batchLength }
      values = [
        ...Effect.runSync(
          Arbitrary.sampleEffect(arbitrary, { ...options, maxDiscards: 1_000 * batchLength })
        )
      ]
    }
    return () => {
      if (values.length === 0) refill()
      return values.pop()
    }
  }
}

type Values = Arbitrary.Arbitrary<unknown>

/**
 * Returns a function that finds a schema's generator. Effect generates most values, but cannot
 * generate strings that pass the contract's filters, such as URLs and schedules, so these have
 * their own generators here. For filters without a generator, the contract's examples are used.
 */
const arbitraries = (sink: string, now: number) => {
  const known = knownSchemas(sink, now)

  const arbitraryOf = (ast: SchemaAST.AST): Values => {
    const ours = known.find(({ filters }) => isSubset(filters, filtersOf(ast)))
    return ours?.arbitrary ?? satisfying(ast, composed(ast) ?? derived(ast))
  }

  const composed = (ast: SchemaAST.AST): Values | undefined => {
    if (SchemaAST.isObjects(ast) && ast.indexSignatures.length === 0) {
      const fields = ast.propertySignatures.map(({ name, type }): [string, Values] => [
        String(name),
        SchemaAST.isOptional(type) ? sometimes(arbitraryOf(type)) : arbitraryOf(type)
      ])
      return Arbitrary.map(Arbitrary.all(Object.fromEntries(fields)), withoutAbsent)
    }
    if (SchemaAST.isUnion(ast)) {
      const options = Arbitrary.all(ast.types.map(arbitraryOf))
      return Arbitrary.map(
        Arbitrary.all([indexBelow(ast.types.length), options]),
        ([at, all]) => all[at]
      )
    }
    const [item] = SchemaAST.isArrays(ast) && ast.elements.length === 0 ? ast.rest : []
    return item === undefined ? undefined : lists(ast, item, arbitraryOf(item))
  }

  return arbitraryOf
}

/** Generates lists with uniqueness or length constraints, using Effect where possible. */
const lists = (ast: SchemaAST.AST, item: SchemaAST.AST, items: Values): Values => {
  const { examples } = SchemaAST.resolve(item) ?? {}
  const ofEffect = Arbitrary.schema(Schema.make(ast))
  // If items are rarely valid, lists of generated items would almost never be valid.
  if (Array.isArray(examples) && !isSampled(items, { count: 5, maxDiscards: 5 })) {
    return Arbitrary.array(oneOf(examples), { minLength: 1, maxLength: examples.length })
  }
  return isSampled(ofEffect) ? ofEffect : Arbitrary.array(items, { minLength: 1, maxLength: 6 })
}

const derived = (ast: SchemaAST.AST): Values => {
  const arbitrary = Arbitrary.schema(Schema.make(ast))
  if (isSampled(arbitrary)) return arbitrary
  const { examples } = SchemaAST.resolve(ast) ?? {}
  if (!Array.isArray(examples)) {
    throw new Error(
      `cannot generate ${JSON.stringify(SchemaAST.resolve(ast))}, and it has no example`
    )
  }
  return oneOf(examples)
}

const isSampled = (arbitrary: Values, { count = 1, maxDiscards = 200 } = {}) =>
  Result.isSuccess(
    Effect.runSync(
      Effect.result(Arbitrary.sampleEffect(arbitrary, { seed: 1, count, maxDiscards }))
    )
  )

const satisfying = (ast: SchemaAST.AST, values: Values): Values =>
  ast.checks === undefined ? values : Arbitrary.filter(values, Schema.is(Schema.make(ast)))

const absent = Symbol("absent")

const sometimes = (values: Values): Values =>
  Arbitrary.map(Arbitrary.all([indexBelow(2), values]), ([isThere, value]) =>
    isThere === 1 ? value : absent
  )

const withoutAbsent = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== absent))

export const secretsIn = (value: unknown): ReadonlyArray<string> => {
  if (Redacted.isRedacted(value)) return [String(Redacted.value(value))]
  if (typeof value !== "object" || value === null) return []
  return Object.values(value).flatMap(secretsIn)
}
