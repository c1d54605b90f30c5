export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const sampleLine = /^([^{\s]+)(?:\{(.*)\})? (\S+)$/

/**
 * Parses a scrape strictly according to text format 0.0.4: each family has one TYPE line before its
 * samples, all of a family's samples are adjacent, no series occurs twice, and histogram buckets
 * increase up to `+Inf`.
 */
export const parseScrape = (text: string): ReadonlyArray<Sample> => {
  if (text !== "" && !text.endsWith("\n")) throw new Error("does not end with a newline")
  const types = new Map<string, string>()
  const helps = new Set<string>()
  const closed = new Set<string>()
  const series = new Set<string>()
  const samples: Array<Sample> = []
  let family = ""
  for (const line of text.split("\n").slice(0, -1)) {
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+)(?: (.*))?$/.exec(line) ?? []
    if (keyword !== undefined) {
      if (!metricName.test(name)) throw new Error(`not a name: ${line}`)
      if (name !== family) {
        closed.add(family)
        if (closed.has(name)) throw new Error(`${name} is in two places`)
        family = name
      }
      const known = keyword === "HELP" ? helps : types
      if (known.has(name)) throw new Error(`${name} has two lines of ${keyword}`)
      if (keyword === "HELP") helps.add(name)
      else if (["counter", "gauge", "histogram", "summary"].includes(rest)) types.set(name, rest)
      else throw new Error(`not a type: ${line}`)
      continue
    }
    const sample = parseSample(line)
    const type = types.get(family)
    const suffixes = type === "histogram" ? ["_bucket", "_sum", "_count"] : [""]
    if (!suffixes.some((suffix) => sample.name === family + suffix)) {
      throw new Error(`${sample.name} is not of ${family}, a ${type}`)
    }
    if (type === "counter" && sample.value < 0) throw new Error(`a negative counter: ${line}`)
    const key = `${sample.name}${JSON.stringify(Object.entries(sample.labels).toSorted())}`
    if (series.has(key)) throw new Error(`twice: ${line}`)
    series.add(key)
    samples.push(sample)
  }
  for (const [name, type] of types) if (type === "histogram") checkHistogram(name, samples)
  return samples
}

const parseSample = (line: string): Sample => {
  const [, name = "", list, number = ""] = sampleLine.exec(line) ?? []
  if (!metricName.test(name)) throw new Error(`not a sample: ${line}`)
  const value = number === "+Inf" ? Infinity : number === "-Inf" ? -Infinity : Number(number)
  if (number !== "NaN" && Number.isNaN(value)) throw new Error(`not a number: ${line}`)
  const labels: Record<string, string> = {}
  let rest = list ?? ""
  while (rest !== "") {
    const [whole, label = "", quoted = ""] =
      /^([^=]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/.exec(rest) ?? []
    if (whole === undefined || !labelName.test(label)) throw new Error(`not labels: ${line}`)
    if (label in labels) throw new Error(`a label twice: ${line}`)
    labels[label] = quoted
    rest = rest.slice(whole.length)
  }
  return { name, labels, value }
}

const checkHistogram = (name: string, samples: ReadonlyArray<Sample>) => {
  const without = ({ labels: { le: _, ...labels } }: Sample) => JSON.stringify(labels)
  const buckets = Map.groupBy(
    samples.filter((one) => one.name === `${name}_bucket`),
    without
  )
  for (const [key, own] of buckets) {
    let before = { le: -Infinity, value: 0 }
    for (const { labels, value } of own) {
      const le = labels["le"] === "+Inf" ? Infinity : Number(labels["le"])
      if (!(le > before.le) || value < before.value)
        throw new Error(`${name} does not count upwards`)
      before = { le, value }
    }
    const count = samples.find((one) => one.name === `${name}_count` && without(one) === key)
    if (before.le !== Infinity || count?.value !== before.value) {
      throw new Error(`${name}${key} does not end with all of it`)
    }
    if (!samples.some((one) => one.name === `${name}_sum` && without(one) === key)) {
      throw new Error(`${name}${key} has no sum`)
    }
  }
}
