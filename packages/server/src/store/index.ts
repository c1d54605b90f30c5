/**
 * The database: the client and its pool, transactions, pages and batches, migrations, the embedded
 * PostgreSQL, and moving a store to another database.
 */
export { DatabaseClock, DatabaseClockLayer, type DbClock } from "./DbClock.ts"
export { maxPageBytes, type PageRequest, pageRequest, type PageRow, toPage } from "./Pages.ts"
export { DatabaseLayer, migrate, Store } from "./Sql.ts"
export { StoreClock } from "./StoreClock.ts"
export { type AskedPage, askedPages, batchPages } from "./batchPages.ts"
export { batched } from "./batched.ts"
export { columnsOf, columnsOfAnyLength } from "./columns.ts"
export { holdDataDir } from "./embedded/DataDirLock.ts"
export { openEmbeddedPostgres } from "./embedded/EmbeddedPostgres.ts"
export { ownerOnly } from "./embedded/ownerOnly.ts"
export { explainSqlError, isDatabaseAway, isLockTimeout } from "./failures.ts"
export { intoWorkspace } from "./intoWorkspace.ts"
export { migrations } from "./migrations/index.ts"
export {
  countRelations,
  inOrder,
  listMigrations,
  listPartitions,
  listSequences,
  listTables,
  type Table
} from "./moving/catalog.ts"
export { copyPartitions, copySequence, copyTable, fingerprint } from "./moving/copyTable.ts"
export { onConnection } from "./onConnection.ts"
export { rowsOf } from "./rows.ts"
export { eachAlone, isAhead } from "./isAhead.ts"
export { timestampOf, timestampOrNull } from "./timestamp.ts"
export { againAfterCollision, transactionOf, undoneAlone } from "./transaction.ts"
export { untilFewerThan } from "./untilFewerThan.ts"
export { CheckedSecretsLayer } from "./AppSecretCheck.ts"
