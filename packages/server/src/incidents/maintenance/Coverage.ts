/** The monitors and tasks of a workspace that are in maintenance. */
export interface Coverage {
  readonly everything: boolean
  readonly tags: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
}

export const isCovered = (
  coverage: Coverage | undefined,
  subject: { readonly id: string; readonly tags: ReadonlyArray<string> }
): boolean =>
  coverage !== undefined &&
  (coverage.everything ||
    coverage.ids.has(subject.id) ||
    subject.tags.some((tag) => coverage.tags.has(tag)))
