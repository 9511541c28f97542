const a = await fetch(url);
const b = get(url);
