import { nearestName } from "@scheduling/domain/shared/nearestName"
import {
  issueAt,
  type IssueCode,
  type ValidationIssue
} from "@scheduling/domain/shared/ValidationIssue"
import { SchemaAST, SchemaIssue } from "effect"

/**
 * The maximum number of issues in a response. Nobody reads more, and each issue adds about a
 * hundred bytes.
 */
export const maxIssues = 100

/** How messages name the input. */
export interface InputTerms {
  /** The name of the input as a whole. */
  readonly whole: "The body" | "The query" | "The item" | "The request"
  /** The name of an individual value in the input. */
  readonly part: "field" | "parameter"
}

const bodyNouns: InputTerms = { whole: "The body", part: "field" }

/** Returns the problems of an input as responses show them. */
export const issuesIn = (
  issue: SchemaIssue.Issue,
  decoded: InputTerms = bodyNouns
): ReadonlyArray<ValidationIssue> => {
  const found: Array<ValidationIssue> = []
  for (const one of issuesAt(issue, [], { ...decoded, hintsLeft: maxHints })) {
    if (found.push(one) === maxIssues) break
  }
  return found
}

/** Returns the issue for a field or parameter that the contract does not have. */
export const unknownFieldIssue = (
  path: ValidationIssue["path"],
  known: ReadonlyArray<string>,
  { part, whole }: InputTerms
): ValidationIssue => {
  const name = String(path.at(-1))
  const meant =
    nearestName(
      name,
      known.filter(({ length }) => Math.abs(length - name.length) <= maxTypos(length)),
      ({ length }) => maxTypos(length)
    ) ?? known.find((one) => one.startsWith(`${name}_`))
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`
  return issueAt(path, "unknown_field", `is not a known ${part}${hint}`, whole)
}

/**
 * The maximum number of suggestions for misspelled names. Comparing names takes time, and a client
 * may send many unknown fields.
 */
const maxHints = 10

/** Returns the maximum edit distance at which a name of this length still matches. */
const maxTypos = (length: number) => Math.floor(length / 3)

interface Walk extends InputTerms {
  hintsLeft: number
}

type Path = ValidationIssue["path"]

function* issuesAt(
  issue: SchemaIssue.Issue,
  path: Path,
  walk: Walk,
  filter?: SchemaIssue.Filter
): Iterable<ValidationIssue> {
  switch (issue._tag) {
    case "Pointer":
      return yield* issuesAt(issue.issue, [...path, ...issue.path.map(segment)], walk, filter)
    case "Filter":
      return yield* issuesAt(issue.issue, path, walk, issue)
    case "Encoding":
      return yield* issuesAt(issue.issue, path, walk, filter)
    case "Composite":
      for (const one of issue.issues) yield* issuesAt(one, path, walk, filter)
      return
    case "AnyOf": {
      const meant = issue.issues.filter((one) => !isOtherKind(one))
      if (meant.length === 0) yield noAlternative(issue, path, walk)
      for (const one of meant) yield* issuesAt(one, path, walk, filter)
      return
    }
    case "MissingKey":
      return yield issueAt(path, "required", "is required", walk.whole)
    case "UnexpectedKey":
      return yield unknownFieldIssue(path, walk.hintsLeft-- > 0 ? namesIn(issue.ast) : [], walk)
    case "InvalidType":
      return yield issueAt(path, ...typeProblem(issue), walk.whole)
    case "InvalidValue":
      return yield issueAt(path, ...valueProblem(issue, filter), walk.whole)
    case "Forbidden":
    case "OneOf":
      return yield issueAt(path, "invalid", "is not valid", walk.whole)
  }
}

const segment = (key: PropertyKey): string | number => (typeof key === "number" ? key : String(key))

const namesIn = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []

type Problem = readonly [code: IssueCode, problem: string]

const typeProblem = (issue: SchemaIssue.InvalidType | SchemaIssue.AnyOf): Problem => {
  const kinds = [...new Set(acceptedTypes(SchemaAST.toEncoded(issue.ast)))]
  const isOfChoices = kinds.some((kind) => kind.startsWith('"'))
  const isText = !SchemaIssue.hasInput(issue) || typeof issue.input === "string"
  return [
    isOfChoices && isText ? "unknown_value" : "invalid_type",
    `must be ${kinds.length > 2 ? "one of " : ""}${either.format(kinds)}`
  ]
}

/**
 * Returns the issue for an object that matches none of the possible kinds, because its kind is
 * missing or unknown.
 */
const noAlternative = (issue: SchemaIssue.AnyOf, path: Path, walk: Walk): ValidationIssue => {
  const tag = SchemaIssue.hasInput(issue) && isObject(issue.input) ? tagOf(issue.ast) : undefined
  if (tag === undefined) return issueAt(path, ...typeProblem(issue), walk.whole)
  const [name, values] = tag
  const at = [...path, name]
  return Object.hasOwn(Object(issue.input), name)
    ? issueAt(at, "unknown_value", `must be one of ${either.format(values)}`, walk.whole)
    : issueAt(at, "required", "is required", walk.whole)
}

/**
 * Returns true if an alternative fails because the field that distinguishes the kinds has another
 * value.
 */
const isOtherKind = (issue: SchemaIssue.Issue): boolean => {
  switch (issue._tag) {
    case "Filter":
    case "Encoding":
      return isOtherKind(issue.issue)
    case "Composite":
      return issue.issues.some(
        (one) =>
          one._tag === "Pointer" &&
          one.issue._tag === "InvalidType" &&
          SchemaAST.isLiteral(one.issue.ast)
      )
    default:
      return false
  }
}

const isObject = (input: unknown) =>
  typeof input === "object" && input !== null && !Array.isArray(input)

/** Returns the field that distinguishes the alternatives of a union, and its values. */
const tagOf = (ast: SchemaAST.AST): readonly [string, ReadonlyArray<string>] | undefined => {
  const encoded = SchemaAST.toEncoded(ast)
  const types = SchemaAST.isUnion(encoded) ? encoded.types : []
  return types
    .flatMap((type) => (SchemaAST.isObjects(type) ? type.propertySignatures : []))
    .flatMap(({ name, type }) => (SchemaAST.isLiteral(type) ? [{ name, type }] : []))
    .map(({ name }, _, literals) => {
      const values = literals.filter((one) => one.name === name)
      return [String(name), values.flatMap(({ type }) => acceptedTypes(type))] as const
    })
    .find(([, values]) => values.length === types.length)
}

const either = new Intl.ListFormat("en", { type: "disjunction" })

/** Returns the values or types that a schema accepts, worded for a message. */
const acceptedTypes = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  switch (ast._tag) {
    case "Union":
      return ast.types.flatMap(acceptedTypes)
    case "Literal":
      return [JSON.stringify(ast.literal)]
    case "String":
    case "TemplateLiteral":
      return ["a string"]
    case "Number":
      return ["a number"]
    case "Boolean":
      return ["true or false"]
    case "Null":
      return ["null"]
    case "Arrays":
      return ["a list"]
    case "Objects":
      return ["an object"]
    default:
      return ["a valid value"]
  }
}

const valueProblem = (
  { annotations, ...issue }: SchemaIssue.InvalidValue,
  filter: SchemaIssue.Filter | undefined
): Problem => {
  const input: unknown = filter?.input ?? issue.input
  const code = (annotations?.["code"] as IssueCode | undefined) ?? codeFor(input)
  if (typeof annotations?.message === "string") return [code, annotations.message]
  const known = filter && boundsProblem(filter.filter.annotations?.["representation"], input)
  if (known !== undefined) return known
  const expected = annotations?.expected ?? filter?.filter.annotations?.expected
  if (expected === numberInText) return ["invalid_type", "must be a number"]
  return [code, typeof expected === "string" ? `must be ${expected}` : "is not valid"]
}

/** How the framework describes its check of a number in a query, where every value is a string. */
const numberInText = "a string representing a finite number"

const codeFor = (input: unknown): IssueCode =>
  typeof input === "string"
    ? "invalid_format"
    : typeof input === "number"
      ? "out_of_range"
      : "invalid"

/** Returns the problem that one of the framework's checks has found. */
const boundsProblem = (representation: unknown, input: unknown): Problem | undefined => {
  const { id, payload } = Object(representation) as Representation
  const { maximum, maxLength = maximum, minimum, minLength = minimum } = payload ?? {}
  switch (id?.replace("effect/schema/", "")) {
    case "isInt":
      return ["invalid_type", "must be a whole number"]
    case "isBetween":
    case "isGreaterThanOrEqualTo":
    case "isLessThanOrEqualTo":
      return ["out_of_range", `must be ${amount(minimum, maximum)}`]
    case "isBetweenLength":
    case "isMinLength":
    case "isMaxLength":
      return lengthProblem(input, minLength, maxLength)
    case "isUnique":
      return ["duplicate", "must not contain duplicate items"]
    default:
      return undefined
  }
}

interface Representation {
  readonly id?: string
  readonly payload?: Readonly<
    Partial<Record<"maxLength" | "maximum" | "minLength" | "minimum", number>>
  > | null
}

const lengthProblem = (input: unknown, least = 0, most = Infinity): Problem => {
  const isText = typeof input === "string"
  const isShort = Object(input).length < least
  const size = amount(least === 0 ? undefined : least, most === Infinity ? undefined : most)
  return isText
    ? [isShort ? "too_short" : "too_long", `must be ${size} characters long`]
    : [isShort ? "too_few" : "too_many", `must have ${size} items`]
}

const amount = (least: number | undefined, most: number | undefined): string =>
  least === undefined
    ? `at most ${formatCount(most)}`
    : most === undefined
      ? `at least ${formatCount(least)}`
      : least === most
        ? formatCount(least)
        : `${formatCount(least)} to ${formatCount(most)}`

const formatCount = (count = 0): string => count.toLocaleString("en")
