
"use strict";
const announce = document.querySelector(".announce");

/** Selects the text and copies it as Ctrl-C would, for where there is no clipboard to write to. */
function copySelected(code) {
  const range = document.createRange();
  range.selectNodeContents(code);
  const selection = window.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  return document.execCommand("copy");
}

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  let copied = true;
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    copied = copySelected(code);
  }
  const word = copied ? "Copied" : "Press Ctrl-C";
  button.textContent = word;
  announce.textContent = word;
  setTimeout(() => {
    button.textContent = "Copy";
    announce.textContent = "";
  }, 2000);
}

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
