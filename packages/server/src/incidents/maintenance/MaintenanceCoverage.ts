/** A workspace's monitors and tasks that are in maintenance. */
export interface MaintenanceCoverage {
  readonly everything: boolean
  readonly tags: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
}

export const isCoveredByMaintenance = (
  coverage: MaintenanceCoverage | undefined,
  subject: { readonly id: string; readonly tags: ReadonlyArray<string> }
): boolean =>
  coverage !== undefined &&
  (coverage.everything ||
    coverage.ids.has(subject.id) ||
    subject.tags.some((tag) => coverage.tags.has(tag)))
