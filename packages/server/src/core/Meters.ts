import { Context, type Metric } from "effect"

type Attributes = Readonly<Record<string, string>>

/**
 * Counts values in buckets. An observation takes a few nanoseconds, because it needs no clock, no
 * map and no allocation.
 */
export class Histogram {
  readonly bounds: ReadonlyArray<number>
  readonly #counts: Float64Array
  #sum = 0
  #min = Number.POSITIVE_INFINITY
  #max = Number.NEGATIVE_INFINITY

  constructor(bounds: ReadonlyArray<number>) {
    this.bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let bucket = 0
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? Infinity)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += value
    if (value < this.#min) this.#min = value
    if (value > this.#max) this.#max = value
  }

  get state(): Metric.HistogramState {
    let count = 0
    const buckets = this.bounds.map((bound, index): [number, number] => {
      count += this.#counts[index] ?? 0
      return [bound, count]
    })
    count += this.#counts[this.bounds.length] ?? 0
    return {
      buckets: [...buckets, [Number.POSITIVE_INFINITY, count]],
      count,
      min: count === 0 ? 0 : this.#min,
      max: count === 0 ? 0 : this.#max,
      sum: this.#sum
    }
  }
}

/**
 * The metrics of a node. The framework's exporter reads each of them by calling a function, because
 * updating a metric of the framework costs up to a microsecond.
 */
export class NodeMeters {
  readonly registry = new Map<string, Metric.Metric.Metadata<unknown, unknown>>()
  readonly #counts = new Map<string, Map<string, number>>()

  counter(name: string, description: string, read: () => number, attributes?: Attributes): void {
    this.#add("Counter", name, description, attributes, () => ({
      count: read(),
      incremental: true
    }))
  }

  gauge(name: string, description: string, read: () => number, attributes?: Attributes): void {
    this.#add("Gauge", name, description, attributes, () => ({ value: read() }))
  }

  histogram(
    name: string,
    description: string,
    bounds: ReadonlyArray<number>,
    attributes?: Attributes
  ): Histogram {
    const histogram = new Histogram(bounds)
    this.#add("Histogram", name, description, attributes, () => histogram.state)
    return histogram
  }

  /**
   * Adds a counter for each value of a label, and returns a function that increments it. The number
   * of values must be small, because each is a separate time series. Callers with the same name
   * share its counters.
   */
  counts<Value extends string>(
    name: string,
    description: string,
    label: string,
    values: ReadonlyArray<Value>
  ): (value: Value, by?: number) => void {
    const counts = this.#counts.get(name) ?? new Map<string, number>()
    this.#counts.set(name, counts)
    for (const value of values) {
      this.counter(name, description, () => counts.get(value) ?? 0, { [label]: value })
    }
    return (value, by = 1) => void counts.set(value, (counts.get(value) ?? 0) + by)
  }

  #add(
    type: Metric.Metric.Type,
    name: string,
    description: string,
    attributes: Attributes | undefined,
    get: () => unknown
  ): void {
    const hooks = { get, update: () => {}, modify: () => {} }
    const key = `${name} ${JSON.stringify(attributes ?? {})}`
    this.registry.set(key, { id: name, type, description, attributes, hooks })
  }
}

/**
 * The metrics of one node. A process has one instance, unless each of its nodes provides its own.
 */
export const Meters = Context.Reference<NodeMeters>("@scheduling/server/core/Meters", {
  defaultValue: () => new NodeMeters()
})

/** The buckets that OpenTelemetry recommends for request durations. */
export const secondsBounds = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10
]

/** The buckets for calls, which can take minutes, and for lateness, which can reach hours. */
export const longSecondsBounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800
]
