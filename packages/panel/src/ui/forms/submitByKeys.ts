/** Submits the form on Ctrl+Enter and ⌘+Enter, even from a text area. */
export const submitByKeys = (): void =>
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    if (!(event.target instanceof Element)) return
    // A confirmation dialog can be inside a form, which the keys must not submit.
    const form = event.target.closest("form, dialog")
    if (!(form instanceof HTMLFormElement)) return
    event.preventDefault()
    form.querySelector<HTMLButtonElement>("button[type=submit]")?.click()
  })
