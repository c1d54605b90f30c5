export interface OnlineWorker {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly labels: ReadonlyArray<string>
}

/**
 * Chooses a worker for each place, or undefined for a place without a free worker. A worker counts
 * for only one place, so that one machine is never a majority. The places with the fewest workers
 * choose first. The monitor's id determines where the choice begins, so that a workspace's monitors
 * are spread over its workers and stay with them.
 */
export const assignWorkers = (
  monitorId: string,
  places: ReadonlyArray<{ readonly labels: ReadonlyArray<string> }>,
  online: ReadonlyArray<OnlineWorker>
): ReadonlyArray<OnlineWorker | undefined> => {
  const first = online.length === 0 ? 0 : Number.parseInt(monitorId.slice(-8), 16) % online.length
  const workers = [...online.slice(first), ...online.slice(0, first)]
  const choices = places.map(({ labels }) =>
    workers.filter((worker) => labels.every((one) => worker.labels.includes(one)))
  )
  const taken = new Set<OnlineWorker>()
  const chosen = new Map<number, OnlineWorker>()
  const order = [...choices.entries()].toSorted(([, a], [, b]) => a.length - b.length)
  for (const [place, candidates] of order) {
    const worker = candidates.find((one) => !taken.has(one))
    if (worker === undefined) continue
    taken.add(worker)
    chosen.set(place, worker)
  }
  return places.map((_, place) => chosen.get(place))
}
