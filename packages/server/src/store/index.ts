/**
 * The database: the client and its pool, transactions, pages and batches, migrations, the embedded
 * PostgreSQL, and moving a store to another database.
 */
export { DatabaseClock, DatabaseClockLayer, type DatabaseClockEstimate } from "./DatabaseClock.ts"
export {
  countedPage,
  countRows,
  maxPageBytes,
  type PageRequest,
  pageRequest,
  type PageRow,
  toPage
} from "./Page.ts"
export {
  isListedAfter,
  isNewestFirst,
  listOrder,
  type ListRequest,
  listRequest,
  sortByName,
  sortColumn,
  type SortValues,
  sortByTime
} from "./listRequest.ts"
export { type ListFilters, matchesFilters } from "./listFilters.ts"
export { DatabaseLayer, migrateDatabase, Store } from "./Sql.ts"
export { StoreClock } from "./StoreClock.ts"
export { batchPageReads, type RequestedPage, requestedPages } from "./batchPageReads.ts"
export { batchRequests } from "./batchRequests.ts"
export { columnParameters, type ColumnType } from "./columnParameters.ts"
export { columnsOf, variableLengthColumns, textArray } from "./columnsOf.ts"
export { lockDataDir } from "./embedded/DataDirLock.ts"
export { openEmbeddedPostgres } from "./embedded/EmbeddedPostgres.ts"
export { restrictToOwner } from "./embedded/restrictToOwner.ts"
export { explainSqlError, isTemporaryFailure, isLockTimeout } from "./sqlErrors.ts"
export { orWorkspaceNotFound } from "./orWorkspaceNotFound.ts"
export { migrations } from "./migrations/index.ts"
export {
  countRelations,
  listMigrations,
  listPartitions,
  listSequences,
  listTables,
  sortByReferences,
  type Table
} from "./moving/catalog.ts"
export { copyPartitions, copySequence, copyTable, fingerprint } from "./moving/copyTable.ts"
export { runOnConnection } from "./runOnConnection.ts"
export { rowReader } from "./rowReader.ts"
export { isAheadOfClock, runInOwnTransactions } from "./isAheadOfClock.ts"
export { timestampOf, timestampOrNull } from "./timestampOf.ts"
export {
  runInSavepoint,
  runInOpenTransactionOf,
  retryAfterDeadlock,
  transactionOf
} from "./transactionOf.ts"
export { repeatUntilFewerThan } from "./repeatUntilFewerThan.ts"
export { CheckedSecretsLayer } from "./AppSecretCheck.ts"
