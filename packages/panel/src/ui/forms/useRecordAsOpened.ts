import { useState } from "react"

/**
 * Returns the record with which the form was opened, although the record may be refetched since.
 * Sending the newer version with the older values would undo the changes of others.
 */
export const useRecordAsOpened = <A extends object>(record: A | undefined): A | undefined =>
  useState(record)[0]
