/** The local storage key for the last visited workspace. */
const key = "workspace"

export const lastWorkspace = (): string | null => localStorage.getItem(key)

export const rememberWorkspace = (id: string): void => localStorage.setItem(key, id)

export const forgetWorkspace = (): void => localStorage.removeItem(key)
