import type { Sample } from "./prometheus.ts"

type Labels = Readonly<Record<string, string>>

export interface Series {
  readonly labels: Labels
  readonly value: number
}

type Vector = ReadonlyArray<Series>

/** Two scrapes, this many seconds apart. `rate` needs each series in both. */
export interface Scrapes {
  readonly before: ReadonlyArray<Sample>
  readonly after: ReadonlyArray<Sample>
  readonly seconds: number
}

/**
 * Evaluates the part of PromQL that the dashboard and the alerts use. Throws on unknown syntax, so
 * that no expression is left unchecked.
 */
export const evaluate = (expression: string, scrapes: Scrapes): Vector => {
  const tokens = tokensOf(expression)
  let at = 0
  const peek = () => tokens[at] ?? ""
  const take = (expected?: string) => {
    const token = peek()
    if (token === "" || (expected !== undefined && token !== expected)) {
      throw new Error(`${expression}: ${expected ?? "more"} expected, not "${token}"`)
    }
    at++
    return token
  }
  const list = <A>(open: string, close: string, item: () => A): Array<A> => {
    const items: Array<A> = []
    take(open)
    while (peek() !== close) {
      items.push(item())
      if (peek() === ",") take()
    }
    take(close)
    return items
  }
  const matcher = () => {
    const label = take()
    const operator = take()
    const value = take().slice(1, -1)
    return (labels: Labels) =>
      operator === "="
        ? labels[label] === value
        : operator === "=~" && new RegExp(`^(?:${value})$`).test(labels[label] ?? "")
  }
  const selector = (name: string) => {
    const matchers = peek() === "{" ? list("{", "}", matcher) : []
    return (samples: ReadonlyArray<Sample>): Vector =>
      samples.filter((one) => one.name === name && matchers.every((holds) => holds(one.labels)))
  }
  const range = (change: (before: number, after: number) => number): Vector => {
    take("(")
    const select = selector(take())
    take("[")
    take()
    take("]")
    take(")")
    const earlier = new Map(select(scrapes.before).map((one) => [keyOf(one.labels), one.value]))
    return select(scrapes.after).flatMap(({ labels, value }) => {
      const before = earlier.get(keyOf(labels))
      return before === undefined ? [] : [{ labels, value: change(before, value) }]
    })
  }
  const aggregate = (combine: (values: ReadonlyArray<number>) => number): Vector => {
    const by = peek() === "by" ? (take(), list("(", ")", take)) : []
    take("(")
    const groups = new Map<string, Array<Series>>()
    for (const series of product()) {
      const labels = Object.fromEntries(by.map((label) => [label, series.labels[label] ?? ""]))
      const key = keyOf(labels)
      groups.set(key, [...(groups.get(key) ?? []), { ...series, labels }])
    }
    take(")")
    return [...groups.values()].map((group) => ({
      labels: group[0]?.labels ?? {},
      value: combine(group.map(({ value }) => value))
    }))
  }
  const quantile = (): Vector => {
    take("(")
    const q = Number(take())
    take(",")
    const buckets = Map.groupBy(product(), ({ labels }) => keyOf(withoutBound(labels)))
    take(")")
    return [...buckets.values()].map((group) => ({
      labels: withoutBound(group[0]?.labels ?? {}),
      value: quantileOf(q, group)
    }))
  }
  const operand = (): Vector => {
    if (peek() === "(") {
      take()
      const inner = product()
      take(")")
      return inner
    }
    const word = take()
    if (/^[\d.]/.test(word)) return [{ labels: {}, value: Number(word) }]
    if (word === "rate") return range((before, after) => (after - before) / scrapes.seconds)
    if (word === "changes") return range((before, after) => (before === after ? 0 : 1))
    if (word === "sum") return aggregate((values) => values.reduce((a, b) => a + b, 0))
    if (word === "max") return aggregate((values) => Math.max(...values))
    if (word === "histogram_quantile") return quantile()
    if (word === "absent") {
      take("(")
      const found = product()
      take(")")
      return found.length === 0 ? [{ labels: {}, value: 1 }] : []
    }
    if (word === "topk") {
      take("(")
      const most = Number(take())
      take(",")
      const all = product()
      take(")")
      return all.toSorted((a, b) => b.value - a.value).slice(0, most)
    }
    return selector(word)(scrapes.after)
  }
  const product = (): Vector => {
    let left = operand()
    while (peek() === "*" || peek() === "/") {
      const by = take() === "*" ? (a: number, b: number) => a * b : (a: number, b: number) => a / b
      left = joined(left, operand(), by)
    }
    return left
  }
  const comparison = (): Vector => {
    const left = product()
    // A comparison returns its left side, because tests check that there is data, not that alerts
    // fire.
    if (!/^(?:[<>]=?|==)$/.test(peek())) return left
    take()
    return product().length === 0 ? [] : left
  }
  const all = [...comparison()]
  while (peek() === "or") {
    take()
    const known = new Set(all.map(({ labels }) => keyOf(labels)))
    all.push(...comparison().filter(({ labels }) => !known.has(keyOf(labels))))
  }
  if (at < tokens.length) throw new Error(`${expression}: "${peek()}" is not known here`)
  return all
}

const tokensOf = (expression: string): ReadonlyArray<string> =>
  expression.match(/"(?:[^"\\]|\\.)*"|=~|[<>=]=|\d[\d.e]*[smh]?|[a-z_]\w*|\S/gi) ?? []

const keyOf = (labels: Labels): string => JSON.stringify(Object.entries(labels).toSorted())

const withoutBound = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => label !== "le"))

/** Joins two vectors by their labels. A number has no labels and is joined with every series. */
const joined = (left: Vector, right: Vector, combine: (a: number, b: number) => number): Vector =>
  left.flatMap((one) =>
    right
      .filter((other) => {
        const keys = [keyOf(one.labels), keyOf(other.labels)]
        return keys[0] === keys[1] || keys.includes(keyOf({}))
      })
      .map((other) => ({
        labels: { ...one.labels, ...other.labels },
        value: combine(one.value, other.value)
      }))
  )

/** Returns a histogram's quantile. It is NaN if nothing was observed. */
const quantileOf = (q: number, buckets: Vector): number => {
  const bound = ({ labels }: Series) => Number((labels["le"] ?? "").replace("+Inf", "Infinity"))
  const sorted = buckets.toSorted((a, b) => bound(a) - bound(b))
  const total = sorted.at(-1)?.value ?? 0
  if (total === 0) return Number.NaN
  const found = sorted.find(({ value }) => value >= q * total)
  return found === undefined ? Number.NaN : Math.min(bound(found), Number.MAX_VALUE)
}
