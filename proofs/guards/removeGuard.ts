import { parseAst } from "rolldown/parseAst"

/** A guard in a file. It is found by the names in its code, so formatting does not matter. */
export interface Removal {
  /**
   * The function, method or property that contains the guard. Defaults to the first match in the
   * file.
   */
  readonly inside?: string
  /**
   * Names that locate the guard in the code. The smallest syntax node that contains all of the
   * names is changed, or the first of them if there are several.
   */
  readonly has: ReadonlyArray<string>
  /**
   * The replacement. `""` removes a statement or a property, `true` and `false` replace a
   * condition, `TRUE` and `FALSE` replace a condition in SQL, and other code replaces a call.
   */
  readonly becomes: string
}

interface Span {
  readonly start: number
  readonly end: number
}

/** The part of ESTree that this file uses. */
interface Node extends Span {
  readonly type: string
  readonly [name: string]: unknown
}

export const removeGuard = (source: string, { becomes, has, inside }: Removal): string => {
  const program = parseAst(source, { lang: "ts" }) as unknown as Node
  const scopes = inside === undefined ? [program] : [...nodesIn(program)].filter(isNamed(inside))
  const found = scopes
    .flatMap((scope) => [...nodesIn(scope)])
    .flatMap((node) => changeable(node, becomes, source))
    .filter(({ end, start }) => {
      const words = new Set(source.slice(start, end).match(/\w+/g))
      return has.every((word) => words.has(word))
    })
  const [guard] = found
    .filter((one) => !found.some((other) => isWithin(other, one)))
    .toSorted((a, b) => a.start - b.start)
  if (guard === undefined) throw new Error(`no guard has ${has.join(" and ")}`)
  return source.slice(0, guard.start) + becomes + source.slice(guard.end)
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value

function* nodesIn(node: Node): Generator<Node> {
  yield node
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* nodesIn(child)
}

const isNamed =
  (name: string) =>
  ({ id, key }: Node) =>
    [id, key].some((is) => isNode(is) && is["name"] === name)

const isWithin = (inner: Span, outer: Span) =>
  inner.start >= outer.start &&
  inner.end <= outer.end &&
  inner.end - inner.start < outer.end - outer.start

/** Lists the parts of a node, without its children, that this replacement can replace. */
const changeable = (node: Node, becomes: string, source: string): ReadonlyArray<Span> => {
  switch (becomes) {
    case "":
      if (!removable.has(node.type)) return []
      return [{ ...node, end: source[node.end] === "," ? node.end + 1 : node.end }]
    case "true":
    case "false":
      return (conditions[node.type] ?? []).map((name) => node[name]).filter(isNode)
    case "TRUE":
    case "FALSE":
      return node.type === "TemplateLiteral" ? sqlConditions(node, source) : []
    default:
      return node.type === "CallExpression" ? [node] : []
  }
}

const removable = new Set(["ExpressionStatement", "IfStatement", "Property"])

const conditions: Readonly<Record<string, ReadonlyArray<string>>> = {
  ArrowFunctionExpression: ["body"],
  ConditionalExpression: ["test"],
  IfStatement: ["test"],
  LogicalExpression: ["left", "right"],
  ReturnStatement: ["argument"],
  WhileStatement: ["test"]
}

/** Lists SQL conditions: the text after `WHERE`, `AND` or `ON`, up to the end of the line. */
const sqlConditions = (template: Node, source: string): ReadonlyArray<Span> => {
  const begin = template.start + 1
  let text = source.slice(begin, template.end - 1)
  for (const { end, start } of template["expressions"] as ReadonlyArray<Node>) {
    text = text.slice(0, start - begin) + "_".repeat(end - start) + text.slice(end - begin)
  }
  const condition = /(?:^\s*(?![A-Z]{4}|\s)|\b(?:WHERE|AND|ON)\s+)((?:(?! (?:AND|OR) ).)+)/g
  return [...text.matchAll(condition)].map(({ 0: all, 1: is = "", index }) => {
    const start = begin + index + all.length - is.length
    return { start, end: start + is.length }
  })
}
