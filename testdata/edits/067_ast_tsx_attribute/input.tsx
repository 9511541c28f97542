const a = <Button color="red" />;
