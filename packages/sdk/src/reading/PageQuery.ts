export interface PageQuery {
  /** The number of records per page, 1 to 100. Defaults to 20. */
  readonly limit?: number | undefined
  /** The `next_cursor` of the previous page. Absent for the first page. */
  readonly cursor?: string | undefined
}
