import { issueAt, type ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"

interface Named {
  /**
   * The prefix of the names of the fields that contain ids and keys, such as `monitor` for
   * `monitor_ids`.
   */
  readonly field: string
  /** The noun for the records in messages, such as `task or chain`. */
  readonly noun: string
  readonly ids?: ReadonlyArray<string> | null | undefined
  readonly keys?: ReadonlyArray<string> | null | undefined
}

interface KeyedRecord {
  readonly id: string
  readonly key: string | null
}

/**
 * Returns the ids of the records that a definition references. A definition can contain both ids
 * and keys, as responses do. Its keys must then not reference further records. Several records can
 * have the same key.
 */
export const findRecordIds = <Id extends string = string>(
  { field, ids, keys, noun }: Named,
  found: ReadonlyArray<KeyedRecord>,
  path: ReadonlyArray<string | number> = []
): { readonly ids: ReadonlyArray<Id>; readonly issues: ReadonlyArray<ValidationIssue> } => {
  const given = (ids ?? []).map((id) => id.toLowerCase())
  const issues: Array<ValidationIssue> = []
  const named = (keys ?? []).flatMap((key, index) => {
    const rows = found.filter((row) => row.key === key)
    const at = [...path, `${field}_keys`, index]
    if (rows.length === 0) {
      issues.push(issueAt(at, "not_found", `matches no ${noun} in this workspace: ${key}`))
    } else if (given.length > 0 && !rows.some(({ id }) => given.includes(id))) {
      issues.push(
        issueAt(
          at,
          "invalid",
          `is not the key of a record in ${field}_ids: send only one of the two fields`
        )
      )
    }
    return rows.map(({ id }) => id)
  })
  // The ids come from columns of this kind of record.
  const all = new Set(given.length > 0 ? given : named) as ReadonlySet<unknown> as ReadonlySet<Id>
  return { ids: [...all], issues }
}

/** Returns an issue for each id that does not belong to a record. */
export const unknownIdIssues = (
  { field, ids, noun }: Named,
  found: ReadonlyArray<KeyedRecord>,
  path: ReadonlyArray<string | number> = []
): ReadonlyArray<ValidationIssue> => {
  const known = new Set(found.map(({ id }) => id))
  return (ids ?? []).flatMap((id, index) =>
    known.has(id.toLowerCase())
      ? []
      : [issueAt([...path, `${field}_ids`, index], "invalid", `is not a ${noun} of this workspace`)]
  )
}
