import { assert, describe, it } from "@effect/vitest"
import { assignWorkers } from "../../../src/monitoring/places/assignWorkers.ts"

const worker = (id: string, ...labels: ReadonlyArray<string>) => ({
  id,
  workspace_id: "w",
  name: id,
  labels
})

const monitor = (end: string) => `019a9f3c-5b1e-7c4a-9d2f-3e8b${end}`

const assigned = (
  places: ReadonlyArray<ReadonlyArray<string>>,
  workers: Parameters<typeof assignWorkers>[2],
  end = "00000000"
) =>
  assignWorkers(
    monitor(end),
    places.map((labels) => ({ labels })),
    workers
  ).map((one) => one?.id)

describe("assignWorkers", () => {
  it("chooses a worker with all labels for each place, and each worker once", () => {
    const workers = [worker("a", "eu", "fra"), worker("b", "eu"), worker("c", "us")]
    assert.deepStrictEqual(assigned([["eu"], ["eu", "fra"], ["us"]], workers), ["b", "a", "c"])
    assert.deepStrictEqual(assigned([["eu"], ["eu"], ["eu"]], workers), ["a", "b", undefined])
    assert.deepStrictEqual(assigned([["asia"], ["us", "eu"]], workers), [undefined, undefined])
    assert.deepStrictEqual(assigned([["eu"]], []), [undefined])
  })

  it("spreads monitors over the workers, and keeps the worker of a monitor", () => {
    const workers = [worker("a", "eu"), worker("b", "eu")]
    assert.deepStrictEqual(assigned([["eu"]], workers, "00000000"), ["a"])
    assert.deepStrictEqual(assigned([["eu"]], workers, "00000001"), ["b"])
    assert.deepStrictEqual(assigned([["eu"]], workers, "00000001"), ["b"])
  })
})
