import type { FormState } from "./merge.ts"

/**
 * The session storage key prefix for drafts of long forms. Drafts survive a reload and an expired
 * session, and are deleted when the tab is closed.
 */
const prefix = "draft:"
const ownerKey = "drafts-of"

export const readDraft = <Values>(key: string | undefined): FormState<Values> | undefined => {
  const text = key === undefined ? null : sessionStorage.getItem(prefix + key)
  return text === null ? undefined : (JSON.parse(text) as FormState<Values>)
}

/** Saves a draft. If the storage is full or blocked, nothing is saved. */
export const saveDraft = <Values>(key: string | undefined, edited: FormState<Values>): void => {
  if (key === undefined) return
  try {
    sessionStorage.setItem(prefix + key, JSON.stringify(edited))
  } catch {
    deleteDraft(key)
  }
}

export const deleteDraft = (key: string | undefined): void => {
  if (key !== undefined) sessionStorage.removeItem(prefix + key)
}

/** Deletes the drafts of other accounts that used this tab before. */
export const deleteDraftsOfOthers = (account: string): void => {
  if (sessionStorage.getItem(ownerKey) === account) return
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  }
  sessionStorage.setItem(ownerKey, account)
}
